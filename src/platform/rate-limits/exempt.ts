import { BlockList, isIP } from 'node:net'

/** Whether an address is in these addresses and CIDR ranges. An IPv4 address in IPv6 notation counts as IPv4. */
export const matcherOf = (ranges: string[]): ((address: string | undefined) => boolean) => {
  if (ranges.length === 0) return () => false
  const exempt = new BlockList()
  for (const range of ranges) {
    const [address = '', bits] = range.split('/')
    const family = isIP(address) === 4 ? 'ipv4' : 'ipv6'
    exempt.addSubnet(address, bits === undefined ? (family === 'ipv4' ? 32 : 128) : Number(bits), family)
  }
  return (address = '') => {
    const plain = address.replace(/^::ffff:(?=[0-9.]+$)/i, '')
    const version = isIP(plain)
    return version !== 0 && exempt.check(plain, version === 4 ? 'ipv4' : 'ipv6')
  }
}
