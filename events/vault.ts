/* The ports for sealed storage. `infra/` implements them. */

/** Encryption with the data keys of things. The deployment's master key wraps the data keys. */
export interface Keyring {
  /** Creates a data key and returns it wrapped (base64). */
  create(thing: string): string;
  seal(thing: string, wrapped: string, plain: Uint8Array): Buffer;
  /** Throws if the bytes were altered or belong to another thing. */
  open(thing: string, wrapped: string, sealed: Uint8Array): Buffer;
  /** Like `seal`, in slices that let other work run in between. Use it above a few megabytes. Do not change `plain` before it resolves. */
  sealLarge(thing: string, wrapped: string, plain: Uint8Array): Promise<Buffer>;
  /** Like `open`, in slices. Decrypts in place: the result overwrites the sealed bytes. */
  openLarge(thing: string, wrapped: string, sealed: Uint8Array): Promise<Buffer>;
  /** Keyed hash: equal input gives an equal hash that reveals nothing. Used for uniqueness claims. */
  keyedHash(purpose: string, text: string): string;
  /** Seals a secret with the master key itself (base64), bound to a purpose. */
  sealSecret(purpose: string, secret: string): string;
  openSecret(purpose: string, sealed: string): string;
  /** Encrypts a whole number into 22 characters (base64url). The result is deterministic for each purpose. */
  sealNumber(purpose: string, value: number): string;
  /** Undefined for anything that was not sealed for this purpose. */
  openNumber(purpose: string, sealed: string): number | undefined;
}

/** Wrapped data keys of the things in the log. Erased things have none. */
export interface DataKeys {
  find(things: string[]): Promise<Map<string, string>>;
}

/** Storage for sealed bytes that are too large for an event. A key belongs to exactly one thing; the bytes are deleted with their last key. */
export interface Blobs {
  /** Returns the key, `<folder>/<uuid>`. The blob is durable (fsync, rename, fsync of the folder) when the promise resolves. Throws StorageUnavailable. */
  put(folder: string, sealed: Uint8Array): Promise<string>;
  /** Gives a blob a second key, in another folder, without storing its bytes twice. Undefined if the blob was removed. */
  link(folder: string, key: string): Promise<string | undefined>;
  /** Undefined if the blob was removed. */
  get(key: string): Promise<Buffer | undefined>;
  /** Removes one blob if it exists. */
  remove(key: string): Promise<void>;
  /** Removes every blob below a folder. */
  removeAll(folder: string): Promise<void>;
  /** Removes incomplete files that writers left behind. Rejects when the signal aborts. */
  removePartsOlderThan(age_ms: number, signal?: AbortSignal): Promise<void>;
  /** Folders whose newest blob is older than `age_ms`. The last segment of a folder names its thing. Throws when the signal aborts. */
  foldersOlderThan(age_ms: number, signal?: AbortSignal): AsyncIterable<string>;
}

/** A thing whose bytes are sealed with its own data key. */
export interface SealedThing {
  /** Its name, such as `file-<uuid>`. Bytes open only under the name that sealed them. */
  thing: string;
  /** The wrapped data key (base64). */
  wrapped_key: string;
  /** The folder of its blobs, see `blobFolder`. */
  folder: string;
}

/** Stores bytes that are too large for an event: seals them before storing, and opens them after reading. */
export interface Vault {
  /** Creates a data key and returns it wrapped (base64). The command that creates the thing must carry it in `keys`. */
  createKey(thing: string): string;
  /** The wrapped data key of a thing in the log; undefined if the thing was erased. */
  findKey(thing: string): Promise<string | undefined>;
  /** Returns the key of the blob. The blob is durable when the promise resolves. `bytes` must not change meanwhile. */
  put(owner: SealedThing, bytes: Uint8Array): Promise<string>;
  /** Gives a blob a second key in another thing's folder, see `Blobs.link`. It still opens with the data key that sealed it. */
  link(folder: string, blob: string): Promise<string | undefined>;
  /**
   * Undefined if the blob was removed or the thing erased (`wrapped_key` null). Without `wrapped_key` the key is looked up.
   * Throws if the bytes were altered or belong to another thing.
   */
  get(owner: { thing: string; wrapped_key?: string | null }, blob: string): Promise<Buffer | undefined>;
}
