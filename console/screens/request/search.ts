/** What the address of a request says beside its id. */
export interface OpenRequestSearch {
  /** The open line of its course. */
  line?: string | undefined;
  /** The cursor of the event after which it is shown. */
  as_of?: string | undefined;
  /** The call of the model whose prompt is shown, from 1. */
  prompt?: number | undefined;
}

/** The same view of the request with a change. From the list nothing is carried over. */
export const changeView =
  (change: OpenRequestSearch) =>
  ({ line, as_of, prompt }: { line?: unknown; as_of?: string | undefined; prompt?: number | undefined }) => ({
    line: typeof line === "string" ? line : undefined,
    as_of,
    prompt,
    ...change,
  });
