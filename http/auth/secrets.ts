import { randomBytes } from "node:crypto";
import { hashToken } from "./bearer.ts";

/** A secret that is shown once, with the parts that are stored. */
export interface NewSecret {
  /** `<kind>-<service name>-<43 characters>`: 256 random bits. */
  secret: string;
  /** SHA-256, hex. */
  hash: string;
  /** The last four characters. */
  hint: string;
}

/** A new API key (`sk`), session token (`sess`), webhook secret (`whsec`) or secret of a link to an approval (`link`). */
export function newSecret(kind: "sk" | "sess" | "whsec" | "link", serviceName: string): NewSecret {
  const secret = `${kind}-${serviceName}-${randomBytes(32).toString("base64url")}`;
  return { secret, hash: hashToken(secret), hint: secret.slice(-4) };
}
