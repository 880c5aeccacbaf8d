import { formatExact, formatRelative } from "../format/index.ts";
import { useNow } from "./useNow.ts";

/** How long ago, with the exact moment on hover. */
export const Time = ({ at }: { at: string }) => (
  <time dateTime={at} title={formatExact(at)}>
    {formatRelative(at, useNow())}
  </time>
);
