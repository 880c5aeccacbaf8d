import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Source } from "../api/types.ts";
import { ExternalLink } from "./ExternalLink.tsx";

const DOCUMENT = /\/api\/v1\/knowledge\/documents\/([0-9a-f-]{36})\/(?:content|text)$/;

/** The passage that a citation means; undefined if its address is external. */
function readPassage(url: string): { id: string; seq?: number; page?: number; version?: number } | undefined {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  const id = parsed && DOCUMENT.exec(parsed.pathname)?.[1];
  if (!id) return undefined;
  const place = new URLSearchParams(parsed.hash.slice(1));
  const read = (from: URLSearchParams, name: string) =>
    /^\d+$/.test(from.get(name) ?? "") ? Number(from.get(name)) : undefined;
  const [seq, page, version] = [read(place, "seq"), read(place, "page"), read(parsed.searchParams, "version")];
  return {
    id,
    ...(seq !== undefined && { seq }),
    ...(page !== undefined && { page }),
    ...(version !== undefined && { version }),
  };
}

interface Props {
  /** `seq` is more exact than the address, which names only the page of a file. */
  source: Omit<Source, "title">;
  children: ReactNode;
}

/** A link to a cited passage or web page. Other schemes are shown as text. */
export function SourceLink({ source: { url, seq, version }, children }: Props) {
  const passage = readPassage(url);
  if (passage) {
    const { id, ...named } = passage;
    const search = { ...named, ...(seq !== undefined && { seq }), ...(version !== undefined && { version }) };
    return (
      <Link to="/knowledge/documents/$documentId" params={{ documentId: id }} search={search}>
        {children}
      </Link>
    );
  }
  if (!/^https?:\/\//i.test(url)) return <span title={url}>{children}</span>;
  return <ExternalLink url={url}>{children}</ExternalLink>;
}

/** The mark of a source in a text, by its number: `[1]`, which links to it. */
export const markOf =
  (sources: Source[]) =>
  (n: number): ReactNode => {
    const source = sources[n - 1];
    return source ? <SourceLink source={source}>[{n}]</SourceLink> : `[${n}]`;
  };
