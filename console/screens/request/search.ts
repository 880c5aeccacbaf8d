/** The parameters in a request's address, besides its id. */
export interface OpenRequestSearch {
  /** The open line of the timeline. */
  line?: string | undefined;
  /** The cursor of the event as of which the request is shown. */
  as_of?: string | undefined;
  /** The model call whose prompt is shown, from 1. */
  prompt?: number | undefined;
}

/** The same view of the request with one change. Parameters of the list are dropped. */
export const changeView =
  (change: OpenRequestSearch) =>
  ({ line, as_of, prompt }: { line?: unknown; as_of?: string | undefined; prompt?: number | undefined }) => ({
    line: typeof line === "string" ? line : undefined,
    as_of,
    prompt,
    ...change,
  });
