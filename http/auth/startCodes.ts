import { randomBytes } from "node:crypto";
import { hashToken } from "./bearer.ts";

const LIFETIME_MS = 10 * 60 * 1000;

interface StartingPerson {
  organization_id: string;
  email: string;
}

/** One-time codes that sign a person in without a password. Only the process that created a code knows it. */
export interface StartCodes {
  create(person: StartingPerson): string;
  /** Undefined for a code that is unknown, used or more than ten minutes old. */
  redeem(code: string): StartingPerson | undefined;
}

export function createStartCodes(now: () => number = Date.now): StartCodes {
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
