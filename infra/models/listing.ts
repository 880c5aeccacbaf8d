import type { Credential } from "#services/turns/model.ts";
import { keep, type Kept } from "./kept.ts";
import type { ListedModel, ListModels } from "./listed.ts";
import type { Send } from "./send.ts";

/** A provider's own list of models. */
export type Listing = Kept<ListedModel[]>;

/** Who does not speak a language of its own speaks OpenAI's. */
const LISTS = new Map<string, () => Promise<{ listModels: ListModels }>>([
  ["anthropic", () => import("./anthropic/list.ts")],
  ["google", () => import("./google/list.ts")],
]);
const openai = () => import("./openai/list.ts");

/** `open` may throw: a key that cannot be read is as a list that cannot be had. */
export const createListing = (
  provider: string,
  open: () => Credential,
  transport: (credential: Credential) => Send,
): Listing =>
  keep(async (signal) => {
    const { listModels } = await (LISTS.get(provider) ?? openai)();
    const credential = open();
    return listModels(credential, transport(credential), signal);
  });
