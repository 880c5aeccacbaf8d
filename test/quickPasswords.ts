import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";

/*
 * Hashes passwords with the least cost of Argon2, because tests make more than a thousand people and each password that is made or
 * checked would take 34 ms of processor time. http/auth/password.test.ts tests the real cost.
 */

const { argon2 } = crypto;
// Vitest runs this before every test file of a worker
if (argon2.name !== "quick") {
  crypto.argon2 = function quick(algorithm, parameters, callback) {
    argon2(algorithm, { ...parameters, memory: 8, passes: 1 }, callback);
  };
  syncBuiltinESMExports();
}
