import { ApiError } from "../errors.ts";
import type { Http } from "../deps.ts";

const BUILT_IN = new Set(["web_search", "web_fetch", "search_documents", "read_document"]);

/** An agent's tools must exist; whether each is configured shows when it is used. Throws 400 `unknown_tool`. */
export async function checkTools(_: Http, __: string, names: string[]): Promise<void> {
  for (const [n, name] of names.entries())
    if (!BUILT_IN.has(name))
      throw new ApiError("unknown_tool", `tools[${n}]: there is no tool ${JSON.stringify(name)}.`, {
        param: `tools[${n}]`,
      });
}
