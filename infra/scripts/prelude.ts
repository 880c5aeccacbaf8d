/**
 * What stands around a script in its VM: the few things that it may ask of the outside, each through one host function that
 * takes and gives JSON. A function of the host function; every intrinsic that is used later is taken out of the script's reach,
 * and what goes to the host has no prototype, so that no `toJSON` or setter of the script's comes between.
 */
export const PRELUDE = `(ask) => {
  for (const name of ["performance", "SharedArrayBuffer", "Atomics"]) delete globalThis[name];
  const { parse, stringify } = JSON;
  const { freeze, entries, setPrototypeOf } = Object;
  const { apply } = Reflect;
  const { isArray } = Array;
  const { slice, toLowerCase } = String.prototype;
  const text = String;
  const Wrong = TypeError;
  const bare = (value) => setPrototypeOf(value, null);
  const plain = (value) => (value === undefined || value === null ? null : text(value));
  const find = (headers, name) => {
    const wanted = apply(toLowerCase, text(name), []);
    for (let n = 0; n < headers.length; n++) if (headers[n][0] === wanted) return headers[n][1];
    return null;
  };
  const listed = (init) => {
    const given = init === undefined || init === null ? [] : isArray(init) ? init : entries(init);
    const headers = bare([]);
    for (let n = 0; n < given.length; n++) headers[n] = bare([text(given[n][0]), text(given[n][1])]);
    return headers;
  };
  const fetch = async (url, init) => {
    const { method, headers, body } = init ?? {};
    const sent = bare({ url: text(url), method: plain(method) ?? "GET", headers: listed(headers), body: plain(body) });
    const answer = bare(parse(await ask("fetch", stringify(sent))));
    return freeze({
      status: answer.status,
      ok: answer.status >= 200 && answer.status < 300,
      headers: freeze({ get: (name) => find(answer.headers, name) }),
      text: async () => answer.body,
      json: async () => parse(answer.body),
    });
  };
  const secrets = freeze({ get: async (name) => parse(await ask("secret", text(name))) });
  const said = (value) => {
    const json = stringify(value === undefined ? null : value);
    if (json === undefined) throw new Wrong("The result of execute must be a value that JSON knows.");
    return json;
  };
  const inspect = (module) =>
    stringify(bare({ meta: parse(said(module.meta)), executes: typeof module.execute === "function" }));
  const execute = async (module, input) => {
    const { args, meta } = bare(parse(input));
    if (typeof module.execute !== "function") throw new Wrong("The script must export a function execute(args, context).");
    return said(await module.execute(args, freeze({ meta: freeze(meta), secrets, fetch })));
  };
  const words = (read, most) => {
    try {
      const value = read();
      return typeof value === "string" ? apply(slice, value, [0, most]) : null;
    } catch {
      return null;
    }
  };
  const describe = (error) => {
    const isObject = (typeof error === "object" && error !== null) || typeof error === "function";
    const message = (isObject ? words(() => error.message, 2000) : null) ?? words(() => text(error), 2000);
    const name = isObject ? words(() => error.name, 100) : null;
    return stringify(bare([name, message ?? "Something was thrown that cannot be told.", isObject ? words(() => error.stack, 20000) : null]));
  };
  return { inspect, execute, describe };
}`;
