import { BASE_GUEST } from "./vm/baseGuest.ts";

/**
 * Code that wraps a scripted tool in its VM: a function that returns `{ inspect, execute, describe }`. Its parameter `ask` calls
 * the host, and takes and returns JSON.
 */
export const SCRIPT_GUEST = `(ask) => {
  ${BASE_GUEST}
  const fetch = createFetch(ask, (json) => bare(parse(json)));
  const secrets = freeze({ get: async (name) => parse(await ask("secret", toText(name))) });
  const resultJson = (value) => {
    const json = stringify(value === undefined ? null : value);
    if (json === undefined) throw new GuestTypeError("The result of execute must be a value that JSON can represent.");
    return json;
  };
  const inspect = (module) =>
    stringify(bare({ meta: parse(resultJson(module.meta)), executes: typeof module.execute === "function" }));
  const execute = async (module, input) => {
    const { args, meta } = bare(parse(input));
    if (typeof module.execute !== "function") throw new GuestTypeError("The script must export a function execute(args, context).");
    return resultJson(await module.execute(args, freeze({ meta: freeze(meta), secrets, fetch })));
  };
  const describe = (error) => stringify(describeThrown(error));
  return { inspect, execute, describe };
}`;
