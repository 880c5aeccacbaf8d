import { queryOptions } from "@tanstack/react-query";
import { call } from "./call.ts";
import type { Page } from "./types.ts";

/** Named people of the organization; everybody signed in sees them. */
export const listGroups = queryOptions({
  queryKey: ["group", "list"],
  queryFn: ({ signal }) => call<Page<{ group: string }>>("groups", { signal, query: { limit: 500 } }),
});
