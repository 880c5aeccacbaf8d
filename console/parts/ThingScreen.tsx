import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { QueryResult } from "./Notices.tsx";

interface Props<T> {
  /** A link to the list that contains the item. */
  back: ReactNode;
  query: UseQueryResult<T>;
  /** The kind of the item: "Run". */
  kind: string;
  narrow?: boolean;
  children: (thing: T) => ReactNode;
}

/** The screen of one item. The item's own heading is part of the children. */
export const ThingScreen = <T,>({ back, query, kind, narrow = false, children }: Props<T>) => (
  <section className={narrow ? "screen narrow" : "screen"}>
    <p>{back}</p>
    <QueryResult query={query} what={`the ${kind.toLowerCase()}`} title={kind}>
      {children}
    </QueryResult>
  </section>
);
