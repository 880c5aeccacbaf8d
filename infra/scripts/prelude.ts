/**
 * What stands around a script in its VM: the few things that it may ask of the outside, each through one host function that
 * takes and gives JSON. The host function and the intrinsics that are used later are taken out of the script's reach first.
 */
export const PRELUDE = `(() => {
  const ask = globalThis.__ask;
  delete globalThis.__ask;
  delete globalThis.performance;
  const { parse, stringify } = JSON;
  const { freeze, entries } = Object;
  const text = String;
  const lower = String.prototype.toLowerCase;
  const find = (headers, name) => {
    const wanted = lower.call(text(name));
    for (let n = 0; n < headers.length; n++) if (headers[n][0] === wanted) return headers[n][1];
    return null;
  };
  const fetch = async (url, init = {}) => {
    const headers = [];
    for (const [name, value] of entries(init.headers ?? {})) headers[headers.length] = [text(name), text(value)];
    const body = init.body === undefined || init.body === null ? null : text(init.body);
    const sent = stringify({ url: text(url), method: text(init.method ?? "GET"), headers, body });
    const { status, headers: received, body: answered } = parse(await ask("fetch", sent));
    return freeze({
      status,
      ok: status >= 200 && status < 300,
      headers: freeze({ get: (name) => find(received, name) }),
      text: async () => answered,
      json: async () => parse(answered),
    });
  };
  const secrets = freeze({ get: async (name) => parse(await ask("secret", text(name))) });
  const said = (value) => {
    const json = stringify(value === undefined ? null : value);
    if (json === undefined) throw new TypeError("The result of execute must be a value that JSON knows.");
    return json;
  };
  globalThis.__meta = (module) => said(module.meta);
  globalThis.__execute = async (module, input) => {
    const { args, meta } = parse(input);
    if (typeof module.execute !== "function") throw new TypeError("The script must export a function execute(args, context).");
    return said(await module.execute(args, freeze({ meta: freeze(meta), secrets, fetch })));
  };
})()`;
