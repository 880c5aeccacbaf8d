import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import type { Keyring } from "#events/ports.ts";

const IV = 12;
const TAG = 16;
const KEPT_KEYS = 10_000;

/** iv (12 bytes), tag (16 bytes), AES-256-GCM ciphertext; `context` is authenticated with it. */
function seal(key: Uint8Array, context: string, plain: Uint8Array): Buffer {
  const iv = randomBytes(IV);
  const cipher = createCipheriv("aes-256-gcm", key, iv).setAAD(Buffer.from(context));
  const body = Buffer.concat([cipher.update(plain), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), body]);
}

function open(key: Uint8Array, context: string, sealed: Uint8Array): Buffer {
  const decipher = createDecipheriv("aes-256-gcm", key, sealed.subarray(0, IV))
    .setAAD(Buffer.from(context))
    .setAuthTag(sealed.subarray(IV, IV + TAG));
  return Buffer.concat([decipher.update(sealed.subarray(IV + TAG)), decipher.final()]);
}

/** @param masterKey 32 bytes */
export function openKeyring(masterKey: Uint8Array): Keyring {
  if (masterKey.length !== 32) throw new Error("the master key must be 32 bytes");
  const keys = new Map<string, Buffer>();

  const remember = (wrapped: string, key: Buffer) => {
    if (keys.size >= KEPT_KEYS) keys.delete(keys.keys().next().value!);
    keys.set(wrapped, key);
    return key;
  };
  const unwrap = (thing: string, wrapped: string): Buffer =>
    keys.get(wrapped) ?? remember(wrapped, open(masterKey, thing, Buffer.from(wrapped, "base64")));

  return {
    create(thing) {
      const key = randomBytes(32);
      const wrapped = seal(masterKey, thing, key).toString("base64");
      remember(wrapped, key);
      return wrapped;
    },
    seal: (thing, wrapped, plain) => seal(unwrap(thing, wrapped), thing, plain),
    open: (thing, wrapped, sealed) => open(unwrap(thing, wrapped), thing, sealed),
    sealSecret: (purpose, secret) => seal(masterKey, `secret:${purpose}`, Buffer.from(secret)).toString("base64"),
    openSecret: (purpose, sealed) => open(masterKey, `secret:${purpose}`, Buffer.from(sealed, "base64")).toString(),
  };
}
