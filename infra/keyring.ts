import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject, randomBytes } from "node:crypto";
import type { Keyring } from "#events/ports.ts";

const IV = 12;
const TAG = 16;
const KEPT_KEYS = 10_000;

/* Keys are KeyObjects: handed over as bytes, each use takes 10 µs instead of 2 (Node 24). */

/** iv (12 bytes), tag (16 bytes), AES-256-GCM ciphertext; `context` is authenticated with it. */
function seal(key: KeyObject, context: string, plain: Uint8Array): Buffer {
  const iv = randomBytes(IV);
  const cipher = createCipheriv("aes-256-gcm", key, iv).setAAD(Buffer.from(context));
  const body = Buffer.concat([cipher.update(plain), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), body]);
}

function open(key: KeyObject, context: string, sealed: Uint8Array): Buffer {
  const decipher = createDecipheriv("aes-256-gcm", key, sealed.subarray(0, IV))
    .setAAD(Buffer.from(context))
    .setAuthTag(sealed.subarray(IV, IV + TAG));
  const plain = decipher.update(sealed.subarray(IV + TAG));
  decipher.final();
  return plain;
}

/** @param masterKey 32 bytes */
export function openKeyring(masterKey: Uint8Array): Keyring {
  if (masterKey.length !== 32) throw new Error("the master key must be 32 bytes");
  const master = createSecretKey(masterKey);
  const keys = new Map<string, KeyObject>();

  const remember = (wrapped: string, bytes: Uint8Array) => {
    if (keys.size >= KEPT_KEYS) keys.delete(keys.keys().next().value!);
    const key = createSecretKey(bytes);
    keys.set(wrapped, key);
    return key;
  };
  const unwrap = (thing: string, wrapped: string): KeyObject =>
    keys.get(wrapped) ?? remember(wrapped, open(master, thing, Buffer.from(wrapped, "base64")));

  return {
    create(thing) {
      const key = randomBytes(32);
      const wrapped = seal(master, thing, key).toString("base64");
      remember(wrapped, key);
      return wrapped;
    },
    seal: (thing, wrapped, plain) => seal(unwrap(thing, wrapped), thing, plain),
    open: (thing, wrapped, sealed) => open(unwrap(thing, wrapped), thing, sealed),
    sealSecret: (purpose, secret) => seal(master, `secret:${purpose}`, Buffer.from(secret)).toString("base64"),
    openSecret: (purpose, sealed) => open(master, `secret:${purpose}`, Buffer.from(sealed, "base64")).toString(),
  };
}
