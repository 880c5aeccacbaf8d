import type { ReactNode } from "react";

/** A link out of the service, to an address that a model or a document named: its page learns nothing of this one. */
export const OutsideLink = ({ url, children }: { url: string; children: ReactNode }) => (
  <a href={url} target="_blank" rel="noreferrer noopener">
    {children}
  </a>
);
