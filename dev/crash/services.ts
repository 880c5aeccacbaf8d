import { readSettings } from "#infra/config.ts";
import { startEmbeddedServers } from "#infra/embedded/index.ts";

/** Supervises the embedded services on DATA_DIR until SIGTERM, and prints their addresses as one line of JSON. */
const services = await startEmbeddedServers(readSettings(process.env), (line) => process.stderr.write(`${line}\n`));
const { stop, ...addresses } = services;
process.stdout.write(`${JSON.stringify(addresses)}\n`);
const stopAndGo = () => void stop().finally(() => process.exit(0));
process.once("SIGTERM", stopAndGo);
process.once("SIGINT", stopAndGo);
