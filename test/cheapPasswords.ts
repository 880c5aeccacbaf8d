import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";

/*
 * System tests hash a password about a thousand times, and each hash takes 25 ms of a core. Here it takes the least that Argon2 allows.
 * The stored string still names the cost of production, so a process without this file cannot check it. Vitest runs this before every
 * test file of a worker.
 */

const { argon2 } = crypto;

function cheapArgon2(...[algorithm, parameters, callback]: Parameters<typeof argon2>): void {
  argon2(algorithm, { ...parameters, memory: 8 * parameters.parallelism, passes: 1 }, callback);
}

if (argon2.name !== cheapArgon2.name) {
  Object.assign(crypto, { argon2: cheapArgon2 });
  syncBuiltinESMExports();
}
