import { useEffect } from 'preact/hooks'

/** What the window is called while a screen is shown. */
export const useTitle = (title: string) => {
  useEffect(() => {
    document.title = `${title} · Team activity`
  }, [title])
}
