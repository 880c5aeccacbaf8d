import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { listPassages, type DocumentInfo } from "../../api/knowledge.ts";
import { Loading } from "../../parts/Notices.tsx";
import { PdfPages } from "./PdfPages.tsx";
import type { Marks } from "./DocumentText.tsx";

/** A larger file is not rendered, because the browser would need several times its size. */
const MAX_BYTES = 50_000_000;
/** Types that browsers render themselves. */
const PICTURES = ["image/png", "image/jpeg", "image/webp", "image/gif"];

/** Whether the file can be rendered. For an earlier version the file is not stored. */
export const canRenderOriginal = (
  { mime_type, size_bytes }: DocumentInfo,
  { version }: Pick<Marks, "version">,
): boolean =>
  version === undefined && size_bytes <= MAX_BYTES && (mime_type === "application/pdf" || PICTURES.includes(mime_type));

const NotDrawn = ({ why }: { why: string }) => (
  <p className="notice warn" role="status">
    The original cannot be shown here, only its text. {why}
  </p>
);

function Picture({ name, address }: { name: string; address: string }) {
  const [isBroken, setBroken] = useState(false);
  if (isBroken) return <NotDrawn why="Download it instead." />;
  return <img className="picture" src={address} alt={`The original of ${name}`} onError={() => setBroken(true)} />;
}

/** The page of the marked passage. */
function usePage({ id }: DocumentInfo, { seq, page, version }: Marks): number | undefined {
  const isNamed = page !== undefined || seq === undefined;
  const passage = useQuery({ ...listPassages(id, { seq: seq ?? 0 }, { limit: 1, version }), enabled: !isNamed });
  if (isNamed) return page ?? 1;
  return passage.isPending ? undefined : (passage.data?.data[0]?.page ?? 1);
}

function Pdf({ document, marks }: { document: DocumentInfo; marks: Marks }) {
  const page = usePage(document, marks);
  if (page === undefined) return <Loading what="the original" />;
  return (
    <PdfPages key={`${document.id} ${page}`} id={document.id} name={document.name} first={page} notDrawn={NotDrawn} />
  );
}

/** The original file, opened at the marked passage. */
export const Original = ({ document, marks, address }: { document: DocumentInfo; marks: Marks; address: string }) => (
  <section className="original" aria-label="The original">
    {document.mime_type === "application/pdf" ? (
      <Pdf document={document} marks={marks} />
    ) : (
      <Picture name={document.name} address={address} />
    )}
  </section>
);
