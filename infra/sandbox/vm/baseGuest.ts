/**
 * JavaScript that runs before every script in its VM. It keeps its own references to the built-in functions that it uses, because
 * the script may replace them. Objects that the host reads have no prototype, so that no setter or `toJSON` of the script can
 * change them.
 */
export const BASE_GUEST = `
  for (const name of ["performance", "SharedArrayBuffer", "Atomics"]) delete globalThis[name];
  const { parse, stringify } = JSON;
  const { freeze, setPrototypeOf, keys, defineProperty, hasOwn, entries } = Object;
  const { apply } = Reflect;
  const { isArray } = Array;
  const { slice, replaceAll, toLowerCase } = String.prototype;
  const [toText, GuestTypeError, GuestError] = [String, TypeError, Error];
  const bare = (value) => setPrototypeOf(value, null);
  const isObject = (value) => (typeof value === "object" && value !== null) || typeof value === "function";

  /* Reads of values whose getters may throw. */
  const readText = (read, max) => {
    try {
      const value = read();
      return typeof value === "string" ? apply(slice, value, [0, max]) : null;
    } catch {
      return null;
    }
  };
  const describeThrown = (error) => {
    const hasFields = isObject(error);
    const message = (hasFields ? readText(() => error.message, 2000) : null) ?? readText(() => toText(error), 2000);
    return bare({
      name: hasFields ? readText(() => error.name, 100) : null,
      message: message ?? "A value was thrown that has no readable message.",
      stack: hasFields ? readText(() => error.stack, 20000) : null,
    });
  };

  const optionalText = (value) => (value === undefined || value === null ? null : toText(value));
  const findHeader = (headers, name) => {
    const wanted = apply(toLowerCase, toText(name), []);
    for (let n = 0; n < headers.length; n++) if (headers[n][0] === wanted) return headers[n][1];
    return null;
  };
  const headerList = (init) => {
    const pairs = init === undefined || init === null ? [] : isArray(init) ? init : entries(init);
    const headers = bare([]);
    for (let n = 0; n < pairs.length; n++) headers[n] = bare([toText(pairs[n][0]), toText(pairs[n][1])]);
    return headers;
  };
  /* fetch() over send("fetch", json), and a function that reads what that resolves with. */
  const createFetch = (send, readAnswer) => async (url, init) => {
    const { method, headers, body } = init ?? {};
    const request = bare({
      url: toText(url),
      method: optionalText(method) ?? "GET",
      headers: headerList(headers),
      body: optionalText(body),
    });
    const answer = readAnswer(await send("fetch", stringify(request)));
    return freeze({
      status: answer.status,
      ok: answer.status >= 200 && answer.status < 300,
      headers: freeze({ get: (name) => findHeader(answer.headers, name) }),
      text: async () => answer.body,
      json: async () => parse(answer.body),
    });
  };
`;
