import { randomBytes } from "node:crypto";
import { currentTime } from "#events/clock.ts";
import type { StartCodes, StartingPerson } from "../base/startCodes.ts";
import { hashToken } from "./bearer.ts";

const LIFETIME_MS = 10 * 60 * 1000;

/** Keeps codes in the memory of this process, as hashes and for one use. */
export function createStartCodes(now: () => number = currentTime): StartCodes {
  const codes = new Map<string, { person: StartingPerson; expires_at: number }>();
  return {
    create(person) {
      const code = randomBytes(32).toString("base64url");
      codes.set(hashToken(code), { person, expires_at: now() + LIFETIME_MS });
      return code;
    },
    redeem(code) {
      const hash = hashToken(code);
      const found = codes.get(hash);
      codes.delete(hash);
      return found && found.expires_at > now() ? found.person : undefined;
    },
  };
}
