FROM node:24-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY tsconfig.json ./
COPY src src
COPY plugins plugins
COPY config config
# The commit that the version carries: docker build --build-arg GW_COMMIT=$(git rev-parse HEAD) …
ARG GW_COMMIT=
RUN npx tsc -b src src/console/web plugins && node build/build/all.js && npm run --silent build:schema && npm prune --omit=dev --omit=optional

FROM node:24-slim
ENV NODE_ENV=production
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY --from=build /app/config config
# Where the SQLite file is; the rest of /app stays as it is.
RUN mkdir data && chown node:node data
VOLUME /app/data
USER node
EXPOSE 8787
HEALTHCHECK --interval=5s --timeout=4s --start-period=30s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 8787}/health`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "dist/server.js"]
