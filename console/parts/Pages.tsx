import type { ReactNode } from "react";
import { formatCount } from "../format/index.ts";

interface Props {
  /** Counts from 0. */
  page: number;
  perPage: number;
  total: number;
  /** What is counted: "document". */
  what: string;
  /** A link to another page. */
  link: (page: number, label: string) => ReactNode;
}

/** Leads through a list whose pages are part of the address. Nothing where all is on one page. */
export const Pages = ({ page, perPage, total, what, link }: Props) =>
  (page > 0 || total > perPage) && (
    <nav aria-label="Pages" className="title-line">
      {page > 0 && link(page - 1, "Previous")}
      {(page + 1) * perPage < total && link(page + 1, "Next")}
      <span className="quiet">{formatCount(total, what)}</span>
    </nav>
  );
