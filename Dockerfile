FROM node:22-bookworm-slim AS build
WORKDIR /service
COPY package.json package-lock.json ./
COPY patches patches
COPY client/package.json client/package.json
COPY examples/vscode/package.json examples/vscode/package.json
RUN npm ci --ignore-scripts && npx patch-package
COPY tsconfig.json tsconfig.build.json ./
COPY schemas schemas
COPY src src
COPY client/src client/src
COPY web web
RUN npx tsc -p tsconfig.build.json && node web/build.mjs && npm prune --omit=dev --omit=optional --ignore-scripts

FROM node:22-bookworm-slim
ENV NODE_ENV=production HOST=0.0.0.0
WORKDIR /service
COPY package.json ./
COPY drizzle drizzle
COPY pages pages
COPY docs/guides docs/guides
COPY --from=build /service/node_modules node_modules
COPY --from=build /service/build build
USER node
EXPOSE 3000
CMD ["node", "--enable-source-maps", "build/src/server.js"]
