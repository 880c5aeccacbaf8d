import { clientOf, say } from "../http/service.ts";
import { chargeDollar } from "./chargeDollar.ts";
import type { People } from "./people.ts";

export type Call = ReturnType<typeof clientOf>;
export const [ECHO, SCRIPTED] = ["offline/echo", "offline/scripted"];

/** Asks for one completion. `more`: fields of the request. */
export const ask = (call: Call, more: Record<string, unknown> = {}) =>
  call("POST", "/chat/completions", say("Hi", more));

/** An organization whose every request to a model of the offline provider costs one dollar, and whose budgets tests set and read. */
export async function openSpender(people: People) {
  const credentials = await people.service.organization("Spenders");
  const owner = await people.signIn(credentials);
  await chargeDollar(owner, ECHO, SCRIPTED);
  const path = (subject: string, model?: string) =>
    `/budgets/${subject}${model === undefined ? "" : `?model=${encodeURIComponent(model)}`}`;
  const get = (subject: string, model?: string) => owner("GET", path(subject, model));
  return {
    credentials,
    owner,
    /** A client with the organization's first key. */
    first: clientOf(people.service, credentials.api_key),
    path,
    get,
    set: (subject: string, body: object, model?: string) => owner("PUT", path(subject, model), body),
    /** The first limit of a budget. */
    limit: async (subject = "organization") => (await get(subject)).body.limits[0],
    async key(more: object = {}) {
      const { id, key } = (await owner("POST", "/keys", { name: "K", ...more })).body as { id: string; key: string };
      return { id, call: clientOf(people.service, key), api: clientOf({ chat: people.api }, key) };
    },
  };
}
export type Spender = Awaited<ReturnType<typeof openSpender>>;
