import { queryOptions } from "@tanstack/react-query";
import { findFormerMembers } from "../format/formerMember.ts";
import { call } from "./call.ts";
import type { LogEvent } from "./events.ts";
import type { Slice } from "./types.ts";

/* Removed people, for administrators. Their names are deleted, but the log keeps when they joined and left, and their role. */

const PER_PAGE = 500;
/** Maximum pages of the log: 20,000 changes of members. */
const MAX_PAGES = 40;

export const listFormerMembers = queryOptions({
  queryKey: ["organization", "former"],
  queryFn: async ({ signal }) => {
    const events: LogEvent[] = [];
    let after: string | undefined;
    for (let page = 0; page < MAX_PAGES; page++) {
      const query = { type: "UserRegistered,UserChanged,UserRemoved", limit: PER_PAGE, after };
      const slice = await call<Slice<LogEvent>>("events", { signal, query });
      events.push(...slice.data);
      if (!slice.has_more || slice.next_after === null) break;
      after = slice.next_after;
    }
    return findFormerMembers(events);
  },
});
