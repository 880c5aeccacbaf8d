import { argon2, randomBytes, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";

/** OWASP's second choice of parameters: 19 MiB, two passes, one lane. */
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

/** They run on the threads that files and name look-ups need too, four by default: a flood of sign-ins must leave some. */
const AT_ONCE = 2;
let running = 0;
const waiting: (() => void)[] = [];

async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (running >= AT_ONCE) await new Promise<void>((begin) => waiting.push(begin));
  else running++;
  try {
    return await work();
  } finally {
    const next = waiting.shift();
    if (next) next();
    else running--;
  }
}

const tagOf = ({ salt, length, ...cost }: Parameters, password: string): Promise<Buffer> =>
  inTurn(() =>
    derive("argon2id", { message: Buffer.from(password.normalize("NFKC")), nonce: salt, tagLength: length, ...cost }),
  );

/** argon2id in PHC form, with a salt of its own. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const tag = await tagOf({ ...COST, salt, length: TAG_BYTES }, password);
  const { memory, passes, parallelism } = COST;
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${unpadded(salt)}$${unpadded(tag)}`;
}

/** One that nobody guesses: 120 random bits, 20 characters. */
export const newPassword = (): string => randomBytes(15).toString("base64url");

const PHC = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

let nobody: Promise<string> | undefined;

/** Whether a password is the one of the PHC string. Without one (no such account) it takes the same time and says no. */
export async function verifyPassword(password: string, phc: string | undefined): Promise<boolean> {
  nobody ??= hashPassword(randomBytes(16).toString("hex"));
  const match = PHC.exec(phc ?? (await nobody));
  if (!match) throw new Error("a stored password is not in PHC form");
  const [memory, passes, parallelism] = match.slice(1, 4).map(Number) as [number, number, number];
  const [salt, tag] = match.slice(4).map((text) => Buffer.from(text, "base64")) as [Buffer, Buffer];
  const derived = await tagOf({ memory, passes, parallelism, salt, length: tag.length }, password);
  return timingSafeEqual(derived, tag) && phc !== undefined;
}
