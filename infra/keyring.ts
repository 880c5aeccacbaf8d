import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  type KeyObject,
  randomBytes,
} from "node:crypto";
import { setImmediate } from "node:timers/promises";
import type { Keyring } from "#events/ports.ts";

const IV = 12;
const TAG = 16;
const KEPT_KEYS = 10_000;

/* Keys are KeyObjects: handed over as bytes, each use takes 10 µs instead of 2 (Node 24). */

let pool = Buffer.alloc(0);
let drawn = 0;

/** Random bytes from a pool, a call of the system for each took as long as the sealing itself. */
function draw(bytes: number): Buffer {
  if (drawn + bytes > pool.length) {
    pool = randomBytes(8_192);
    drawn = 0;
  }
  drawn += bytes;
  return pool.subarray(drawn - bytes, drawn);
}

/** Sealed or opened at a time, 3 ms: 100 MB at once took 190 ms instead of 80, and twice the memory. */
const SLICE = 4_000_000;

/** Slices of large bytes; after each of them others may run. */
type Slices = Generator<void, Buffer>;

/** iv (12 bytes), tag (16 bytes), AES-256-GCM ciphertext; `context` is authenticated with it. */
function* sealing(key: KeyObject, context: string, plain: Uint8Array): Slices {
  const sealed = Buffer.allocUnsafe(IV + TAG + plain.length);
  const iv = draw(IV);
  const cipher = createCipheriv("aes-256-gcm", key, iv).setAAD(Buffer.from(context));
  sealed.set(iv);
  for (let at = 0; at < plain.length; at += SLICE) {
    if (at > 0) yield;
    sealed.set(cipher.update(plain.subarray(at, at + SLICE)), IV + TAG + at);
  }
  cipher.final();
  sealed.set(cipher.getAuthTag(), IV);
  return sealed;
}

function* opening(key: KeyObject, context: string, sealed: Uint8Array): Slices {
  const decipher = createDecipheriv("aes-256-gcm", key, sealed.subarray(0, IV))
    .setAAD(Buffer.from(context))
    .setAuthTag(sealed.subarray(IV, IV + TAG));
  const text = sealed.subarray(IV + TAG);
  const plain = Buffer.allocUnsafe(text.length);
  for (let at = 0; at < text.length; at += SLICE) {
    if (at > 0) yield;
    plain.set(decipher.update(text.subarray(at, at + SLICE)), at);
  }
  decipher.final();
  return plain;
}

function atOnce(slices: Slices): Buffer {
  for (;;) {
    const { value, done } = slices.next();
    if (done) return value;
  }
}

async function inTurn(slices: Slices): Promise<Buffer> {
  for (;;) {
    const { value, done } = slices.next();
    if (done) return value;
    await setImmediate();
  }
}

const seal = (...of: Parameters<typeof sealing>): Buffer => atOnce(sealing(...of));
const open = (...of: Parameters<typeof opening>): Buffer => atOnce(opening(...of));

/** @param masterKey 32 bytes */
export function openKeyring(masterKey: Uint8Array): Keyring {
  if (masterKey.length !== 32) throw new Error("the master key must be 32 bytes");
  const master = createSecretKey(masterKey);
  const marking = createHmac("sha256", master).update("marks").digest();
  // two generations instead of dropping the oldest: finding a Map's first key costs 5 µs once many before it are gone
  let keys = new Map<string, KeyObject>();
  let older = keys;

  const remember = (wrapped: string, key: KeyObject): KeyObject => {
    if (keys.size >= KEPT_KEYS / 2) {
      older = keys;
      keys = new Map();
    }
    keys.set(wrapped, key);
    return key;
  };
  const unwrap = (thing: string, wrapped: string): KeyObject => {
    const known = keys.get(wrapped);
    if (known) return known;
    const key = older.get(wrapped) ?? createSecretKey(open(master, thing, Buffer.from(wrapped, "base64")));
    return remember(wrapped, key);
  };

  return {
    create(thing) {
      const key = draw(32);
      const wrapped = seal(master, thing, key).toString("base64");
      remember(wrapped, createSecretKey(key));
      key.fill(0);
      return wrapped;
    },
    seal: (thing, wrapped, plain) => seal(unwrap(thing, wrapped), thing, plain),
    open: (thing, wrapped, sealed) => open(unwrap(thing, wrapped), thing, sealed),
    sealLarge: async (thing, wrapped, plain) => inTurn(sealing(unwrap(thing, wrapped), thing, plain)),
    openLarge: async (thing, wrapped, sealed) => inTurn(opening(unwrap(thing, wrapped), thing, sealed)),
    mark: (purpose, words) =>
      createHmac("sha256", marking)
        .update(JSON.stringify([purpose, words]))
        .digest("base64url"),
    sealSecret: (purpose, secret) => seal(master, `secret:${purpose}`, Buffer.from(secret)).toString("base64"),
    openSecret: (purpose, sealed) => open(master, `secret:${purpose}`, Buffer.from(sealed, "base64")).toString(),
  };
}
