import { startServices } from "#infra/embedded/index.ts";

/* A process that holds services on the folder in its arguments: tells where they are, then waits for SIGTERM, or does what it is told. */
const [folder = "", deed] = process.argv.slice(2);
const services = await startServices({ DATA_DIR: folder }, (line) => process.stderr.write(`${line}\n`));
process.once("SIGTERM", () => void services.stop().then(() => process.exit(0)));
process.stdout.write(`${JSON.stringify(services)}\n`);
if (deed === "throw") throw new Error("A fault that nothing catches");
setInterval(() => {}, 60_000);
