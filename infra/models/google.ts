import { lazyModel } from "./lazy.ts";

/** Google's Gemini API, or whoever speaks it at the credential's `base_url`. */
export const googleModel = lazyModel(() => import("./google/provider.ts"));
