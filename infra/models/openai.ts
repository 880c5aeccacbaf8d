import { lazyModel } from "./lazy.ts";

/** OpenAI, or any server that speaks its chat completions API at the credential's `base_url`. */
export const openaiModel = lazyModel(() => import("./openai/provider.ts"));
