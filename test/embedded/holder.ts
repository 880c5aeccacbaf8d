import { startEmbeddedServers } from "#infra/embedded/index.ts";

/* Starts embedded servers on the folder in its arguments and prints their addresses. Then waits for SIGTERM, or throws if the second argument says so. */
const [folder = "", action] = process.argv.slice(2);
const services = await startEmbeddedServers({ DATA_DIR: folder }, (line) => process.stderr.write(`${line}\n`));
process.once("SIGTERM", () => void services.stop().then(() => process.exit(0)));
process.stdout.write(`${JSON.stringify(services)}\n`);
if (action === "throw") throw new Error("An error that nothing catches");
setInterval(() => {}, 60_000);
