import { createHash } from "node:crypto";
import { MeilisearchError, type Send } from "./request.ts";

/** A key that the server derives from its master key, limited to these actions on these indexes. */
export interface LimitedKey {
  masterKey: string;
  /** What it is for, shown in the server's list of keys. */
  name: string;
  /** A pattern such as `svc-passages-*`. */
  indexes: string;
  actions: string[];
}

/** How the requests of one connection authenticate. */
interface Access {
  key(): Promise<string>;
  /** Called when the server does not know the key, because it may have lost its data. */
  renew(): Promise<string>;
}

export const indexesOf = (prefix: string): string => `${prefix}-passages-`;

const READ = ["search", "documents.get"];
const WRITE = [
  "documents.add",
  "documents.delete",
  "indexes.create",
  "indexes.get",
  "indexes.delete",
  "settings.update",
  "tasks.get",
];

type Options = { masterKey: string; prefix: string };
/** Searches the passages of a deployment. */
export const searchKey = ({ masterKey, prefix }: Options): LimitedKey => ({
  masterKey,
  name: `${prefix} search`,
  indexes: `${indexesOf(prefix)}*`,
  actions: READ,
});
/** Creates, fills, searches and removes the passage indexes of a deployment. */
export const indexKey = ({ masterKey, prefix }: Options): LimitedKey => ({
  masterKey,
  name: `${prefix} index`,
  indexes: `${indexesOf(prefix)}*`,
  actions: [...READ, ...WRITE],
});

/** Derives the uid from the rights of the key. Every process gets the same one, and changed rights get a new key, because a key's rights are fixed. */
const uidOf = ({ name, indexes, actions }: LimitedKey): string => {
  const hex = createHash("sha256")
    .update(JSON.stringify([name, indexes, actions]))
    .digest("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
};

const KEYS_MS = 5_000;
const statusOf = (error: unknown) => (error instanceof MeilisearchError ? error.status : undefined);

async function readOrCreate(
  { masterKey, name, indexes, actions }: LimitedKey,
  uid: string,
  send: Send,
): Promise<string> {
  const read = () => send<{ key: string }>({ method: "GET", path: `/keys/${uid}`, timeoutMs: KEYS_MS }, masterKey);
  const create = () => {
    const body = { uid, name, indexes: [indexes], actions, expiresAt: null };
    return send<{ key: string }>({ method: "POST", path: "/keys", body, timeoutMs: KEYS_MS }, masterKey);
  };
  try {
    return (await read()).key;
  } catch (error) {
    if (statusOf(error) !== 404) throw error;
  }
  // another process may create it at the same time
  const created = await create().catch((error: unknown) => (statusOf(error) === 409 ? read() : Promise.reject(error)));
  return created.key;
}

/** Access with a given key, or with a limited one that is created or read at the first request. */
export function openAccess(given: string | LimitedKey, send: Send): Access {
  if (typeof given === "string") return { key: async () => given, renew: async () => given };
  // a server started without a master key has no keys
  if (given.masterKey === "") return { key: async () => "", renew: async () => "" };
  const uid = uidOf(given);
  let current: Promise<string> | undefined;
  let renewing: Promise<string> | undefined;
  const renew = () =>
    (renewing ??= readOrCreate(given, uid, send).finally(() => {
      renewing = undefined;
    }));
  const key = () => {
    current ??= renew();
    const attempt = current;
    attempt.catch(() => {
      if (current === attempt) current = undefined;
    });
    return attempt;
  };
  return { key, renew: () => (current = renew()) };
}
