FROM node:24-slim AS packages
WORKDIR /app
COPY package.json package-lock.json ./
# Follows the lock file; `ci` refuses one that was written where the registry lacked other platforms' optional packages.
# Without those optional packages: the image needs no embedded servers.
RUN npm install --no-save --omit=dev --omit=optional --ignore-scripts

FROM node:24-slim
ENV NODE_ENV=production HOST=0.0.0.0 DATA_DIR=/data
WORKDIR /app
COPY --from=packages /app/node_modules ./node_modules
COPY package.json main.ts ./
COPY cli ./cli
COPY events ./events
COPY http ./http
COPY infra ./infra
COPY projections ./projections
COPY roles ./roles
COPY services ./services
RUN mkdir /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 8080
ENTRYPOINT ["node", "main.ts"]
CMD ["all"]
