/**
 * Functions of the web platform in the VMs of workflows, over the host function `webFunction` (webFunctions.ts): `URL`,
 * `URLSearchParams`, `TextEncoder`, `TextDecoder`, `crypto.subtle` and `console`. They only compute, and reach nothing outside the VM.
 */
export const WEB_GUEST = `
  const { fromCharCode } = String;
  const { charCodeAt } = String.prototype;
  const { map, join } = Array.prototype;
  const [Bytes, Buffers, GuestRangeError] = [Uint8Array, ArrayBuffer, RangeError];
  const callWeb = (name, texts, GuestFailure = GuestTypeError) => {
    const answer = webFunction(name, stringify(texts));
    if (answer[0] === "!") throw new GuestFailure(apply(slice, answer, [1]));
    return apply(slice, answer, [1]);
  };
  const toBytes = (text) => {
    const bytes = new Bytes(text.length);
    for (let n = 0; n < text.length; n++) bytes[n] = apply(charCodeAt, text, [n]);
    return bytes;
  };
  const fromBytes = (what, source) => {
    const isView = Buffers.isView(source);
    if (!isView && !(source instanceof Buffers)) throw new GuestTypeError(what + ": must be an ArrayBuffer or a view of one, such as a Uint8Array.");
    const bytes = isView ? new Bytes(source.buffer, source.byteOffset, source.byteLength) : new Bytes(source);
    const parts = [];
    for (let at = 0; at < bytes.length; at += 8192) parts[parts.length] = apply(fromCharCode, null, bytes.subarray(at, at + 8192));
    return apply(join, parts, [""]);
  };

  class TextEncoder {
    get encoding() { return "utf-8"; }
    encode(text = "") { return toBytes(callWeb("encode", [toText(text)])); }
  }
  class TextDecoder {
    #options;
    constructor(label = "utf-8", { fatal = false, ignoreBOM = false } = {}) {
      this.encoding = callWeb("encodingName", [toText(label)], GuestRangeError);
      this.fatal = fatal === true;
      this.ignoreBOM = ignoreBOM === true;
      this.#options = [this.encoding, toText(this.fatal), toText(this.ignoreBOM)];
    }
    decode(source) {
      return source === undefined ? "" : callWeb("decode", [...this.#options, fromBytes("decode", source)]);
    }
  }

  const pairsOf = (init) => {
    if (init === undefined || init === null) return [];
    if (isObject(init)) {
      const pairs = typeof init[Symbol.iterator] === "function" ? [...init] : entries(init);
      return apply(map, pairs, [([name, value]) => [toText(name), toText(value)]]);
    }
    return parse(callWeb("parseQuery", [toText(init)]));
  };
  class URLSearchParams {
    #pairs;
    #link;
    /* link: connects the pairs with the URL that they belong to, in both directions. */
    constructor(init, link) {
      this.#pairs = pairsOf(init);
      this.#link = link;
      if (link !== undefined) link.replace = (query) => { this.#pairs = pairsOf(query); };
    }
    #set(pairs) {
      this.#pairs = pairs;
      this.#link?.changed(this.toString());
    }
    get size() { return this.#pairs.length; }
    append(name, value) { this.#set([...this.#pairs, [toText(name), toText(value)]]); }
    delete(name, value) { this.#set(this.#pairs.filter(([n, v]) => n !== toText(name) || (value !== undefined && v !== toText(value)))); }
    get(name) { return this.#pairs.find(([n]) => n === toText(name))?.[1] ?? null; }
    getAll(name) { return this.#pairs.filter(([n]) => n === toText(name)).map(([, v]) => v); }
    has(name, value) { return this.#pairs.some(([n, v]) => n === toText(name) && (value === undefined || v === toText(value))); }
    set(name, value) {
      const at = this.#pairs.findIndex(([n]) => n === toText(name));
      const pair = [toText(name), toText(value)];
      if (at < 0) return this.#set([...this.#pairs, pair]);
      this.#set(this.#pairs.flatMap((one, n) => (n === at ? [pair] : one[0] === pair[0] ? [] : [one])));
    }
    sort() { this.#set(this.#pairs.toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))); }
    forEach(visit, self) { for (const [name, value] of this.#pairs) apply(visit, self, [value, name, this]); }
    *keys() { for (const [name] of this.#pairs) yield name; }
    *values() { for (const [, value] of this.#pairs) yield value; }
    *entries() { for (const [name, value] of this.#pairs) yield [name, value]; }
    [Symbol.iterator]() { return this.entries(); }
    toString() { return callWeb("writeQuery", [stringify(this.#pairs)]); }
  }

  class URL {
    #parts;
    #query;
    #link = { changed: (query) => this.#change("search", query) };
    constructor(url, base) {
      const found = callWeb("parseUrl", base === undefined ? [toText(url)] : [toText(url), toText(base)]);
      if (found === "") throw new GuestTypeError("Invalid URL");
      this.#parts = parse(found);
    }
    static canParse(url, base) { return URL.parse(url, base) !== null; }
    static parse(url, base) {
      try { return new URL(url, base); } catch { return null; }
    }
    get origin() { return this.#parts.origin; }
    get searchParams() {
      return (this.#query ??= new URLSearchParams(this.#parts.search, this.#link));
    }
    #change(part, value) { this.#parts = parse(callWeb("changeUrl", [this.#parts.href, part, toText(value)])); }
    toString() { return this.#parts.href; }
    toJSON() { return this.#parts.href; }
    static {
      for (const part of ["href", "protocol", "username", "password", "host", "hostname", "port", "pathname", "search", "hash"])
        defineProperty(URL.prototype, part, bare({
          configurable: true,
          get() { return this.#parts[part]; },
          set(value) {
            this.#change(part, value);
            if (part === "search" || part === "href") this.#link.replace?.(this.#parts.search);
          },
        }));
    }
  }

  const HASHES = freeze(["SHA-1", "SHA-256", "SHA-384", "SHA-512"]);
  const hashName = (algorithm) => {
    const name = toText(isObject(algorithm) ? algorithm.name : algorithm).toUpperCase();
    if (!HASHES.includes(name)) throw new GuestTypeError("crypto.subtle: the hash must be one of " + HASHES.join(", ") + ".");
    return name;
  };
  const macName = (algorithm) => {
    const name = toText(isObject(algorithm) ? algorithm.name : algorithm).toUpperCase();
    if (name !== "HMAC") throw new GuestTypeError("crypto.subtle: the algorithm must be HMAC.");
  };
  const keyBytes = new WeakMap();
  class CryptoKey {
    get type() { return "secret"; }
  }
  const mac = (algorithm, key, data) => {
    macName(algorithm);
    if (!apply(mapHas, keyBytes, [key])) throw new GuestTypeError("crypto.subtle: the key must come from importKey().");
    const { hash, bytes } = apply(mapGet, keyBytes, [key]);
    return callWeb("hmac", [hash, bytes, fromBytes("data", data)]);
  };
  const subtle = freeze({
    digest: async (algorithm, data) => toBytes(callWeb("digest", [hashName(algorithm), fromBytes("data", data)])).buffer,
    async importKey(format, data, algorithm) {
      if (format !== "raw") throw new GuestTypeError('crypto.subtle.importKey: the format must be "raw".');
      macName(algorithm);
      const key = freeze(new CryptoKey());
      apply(mapSet, keyBytes, [key, bare({ hash: hashName(algorithm.hash), bytes: fromBytes("the key", data) })]);
      return key;
    },
    sign: async (algorithm, key, data) => toBytes(mac(algorithm, key, data)).buffer,
    /* Compares every byte, so that the time it takes does not reveal where the first difference is. */
    async verify(algorithm, key, signature, data) {
      const [expected, given] = [mac(algorithm, key, data), fromBytes("the signature", signature)];
      let differences = expected.length === given.length ? 0 : 1;
      for (let n = 0; n < expected.length; n++) differences |= apply(charCodeAt, expected, [n]) ^ apply(charCodeAt, given, [n]);
      return differences === 0;
    },
  });

  /* Every level of console writes into the log of the run. */
  const defineWeb = (log, crypto) => {
    const console = {};
    for (const level of ["log", "info", "debug", "warn", "error", "trace"]) console[level] = log;
    const web = { URL, URLSearchParams, TextEncoder, TextDecoder, console: freeze(console), crypto: freeze({ subtle, ...crypto }) };
    for (const name in web) define(globalThis, name, web[name]);
  };
`;
