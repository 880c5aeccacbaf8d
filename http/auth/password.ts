import { argon2, randomBytes, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";

/** OWASP's second recommended parameter set: 19 MiB, two passes, one lane. */
const COST = { memory: 19_456, passes: 2, parallelism: 1 };
const TAG_BYTES = 32;
const SALT_BYTES = 16;

const derive = promisify(argon2);
const unpadded = (bytes: Buffer): string => bytes.toString("base64").replace(/=+$/, "");

interface Parameters {
  memory: number;
  passes: number;
  parallelism: number;
  salt: Buffer;
  length: number;
}

const deriveTag = ({ salt, length, ...cost }: Parameters, password: string): Promise<Buffer> =>
  derive("argon2id", { message: Buffer.from(password.normalize("NFKC")), nonce: salt, tagLength: length, ...cost });

/** Hashes a password with Argon2id and a new salt. Returns a PHC string. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const tag = await deriveTag({ ...COST, salt, length: TAG_BYTES }, password);
  const { memory, passes, parallelism } = COST;
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${unpadded(salt)}$${unpadded(tag)}`;
}

/** A random password: 120 bits in 20 characters. */
export const newPassword = (): string => randomBytes(15).toString("base64url");

const PHC = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

let decoy: Promise<string> | undefined;

/** Compares a password with a PHC string. Without one (there is no such account) returns false, after the same time. */
export async function verifyPassword(password: string, phc: string | undefined): Promise<boolean> {
  decoy ??= hashPassword(randomBytes(16).toString("hex"));
  const match = PHC.exec(phc ?? (await decoy));
  if (!match) throw new Error("a stored password is not in PHC form");
  const [memory, passes, parallelism] = match.slice(1, 4).map(Number) as [number, number, number];
  const [salt, tag] = match.slice(4).map((text) => Buffer.from(text, "base64")) as [Buffer, Buffer];
  const derived = await deriveTag({ memory, passes, parallelism, salt, length: tag.length }, password);
  return timingSafeEqual(derived, tag) && phc !== undefined;
}
