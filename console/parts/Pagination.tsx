import { Link, type LinkProps } from "@tanstack/react-router";
import { formatCount } from "../format/index.ts";
import { EmptyState } from "./Notices.tsx";

interface PastEndProps {
  /** The noun for the items: "documents". */
  what: string;
  /** The address of the first page. */
  first: LinkProps;
}

/** For a page after the last one, of an old address or after deletions. */
export const PastEnd = ({ what, first }: PastEndProps) => (
  <EmptyState title={`There are no more ${what}`}>
    <p>
      Go back to <Link {...first}>the first page</Link>.
    </p>
  </EmptyState>
);

interface Props {
  /** Counts from 0. */
  page: number;
  perPage: number;
  total: number;
  /** The noun for an item: "document". */
  what: string;
  /** The address of another page; undefined for the first page, which addresses do not name. */
  address: (page: number | undefined) => LinkProps;
}

/** Links through a list whose pages are part of the address. Empty if there is only one page; a page after the last one says so. */
export const Pagination = ({ page, perPage, total, what, address }: Props) =>
  page > 0 && page * perPage >= total ? (
    <PastEnd what={`${what}s`} first={address(undefined)} />
  ) : (
    (page > 0 || total > perPage) && (
      <nav aria-label="Pages" className="title-line">
        {page > 0 && (
          <Link className="button" {...address(page - 1 || undefined)}>
            Previous
          </Link>
        )}
        {(page + 1) * perPage < total && (
          <Link className="button" {...address(page + 1)}>
            Next
          </Link>
        )}
        <span className="quiet">{formatCount(total, what)}</span>
      </nav>
    )
  );
