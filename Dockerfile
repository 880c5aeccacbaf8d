FROM node:24-slim AS packages
WORKDIR /app
COPY package.json package-lock.json ./
# Follows the lock file. Not `ci`: it refuses a lock file that lacks optional packages of other platforms.
# Omits optional packages: the image needs no embedded servers.
RUN npm install --no-save --omit=dev --omit=optional --ignore-scripts

FROM node:24-slim AS console
WORKDIR /app
COPY package.json package-lock.json tsconfig.json ./
RUN npm install --no-save --include=dev --ignore-scripts
COPY dev/console ./dev/console
COPY console ./console
COPY README.md ./
COPY docs ./docs
RUN node dev/console/build.ts

FROM node:24-slim
ENV NODE_ENV=production HOST=0.0.0.0 DATA_DIR=/data
WORKDIR /app
COPY --from=packages /app/node_modules ./node_modules
COPY --from=console /app/.runtime/console ./.runtime/console
COPY package.json main.ts ./
COPY cli ./cli
COPY events ./events
COPY examples/workflow.d.ts ./examples/workflow.d.ts
COPY http ./http
COPY infra ./infra
COPY projections ./projections
COPY roles ./roles
COPY services ./services
# .runtime/compiled: the service keeps its compiled code there, and starts faster again
RUN mkdir -p /data .runtime/compiled && chown node:node /data .runtime/compiled
USER node
VOLUME /data
EXPOSE 8080
# the settings of the allocator and the flags of svc.mjs
ENV MALLOC_ARENA_MAX=2 MALLOC_MMAP_THRESHOLD_=1048576 MALLOC_TRIM_THRESHOLD_=1048576
ENTRYPOINT ["node", "--heap-growing-percent=80", "--max-semi-space-size=32", "main.ts"]
CMD ["all"]
