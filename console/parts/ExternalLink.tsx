import type { ReactNode } from "react";

/** A link to an external address from a model or a document. The external page learns nothing about this page. */
export const ExternalLink = ({ url, children }: { url: string; children: ReactNode }) => (
  <a href={url} target="_blank" rel="noreferrer noopener">
    {children}
  </a>
);
