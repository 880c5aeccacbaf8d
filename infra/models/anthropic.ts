import { lazyModel } from "./lazy.ts";

/** Anthropic, or whoever speaks its messages API at the credential's `base_url`. */
export const anthropicModel = lazyModel(() => import("./anthropic/provider.ts"));
