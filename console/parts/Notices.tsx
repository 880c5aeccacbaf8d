import type { UseQueryResult } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { ApiError } from "../api/call.ts";
import { canRetryLater } from "../api/retryFailedQueries.ts";
import type { Listing } from "../api/readAll.ts";
import { formatDuration, formatNumber, withReadableTimes } from "../format/index.ts";
import { ServiceMessage } from "./ServiceMessage.tsx";
import { OverwriteRefusal } from "./OverwriteRefusal.ts";
import "./notices.css";

const details = (error: ApiError): string =>
  [
    error.code && `code ${error.code}`,
    error.param && `field ${error.param}`,
    error.request_id && `request ${error.request_id}`,
  ]
    .filter(Boolean)
    .join(" · ");

type Retry = Required<Pick<ErrorProps, "error" | "onRetry" | "isByHand">>;

/** Advice on a failure. If it is permanent, no retry is offered. */
function WhatNext({ error, onRetry, isByHand }: Retry) {
  const status = error instanceof ApiError ? error.status : undefined;
  if (status === 404) return <p>It may have been deleted, or the address may be mistyped.</p>;
  if (status === 403)
    return (
      <p>
        Owners and administrators can give you another role. <Link to="/members">See who they are</Link>.
      </p>
    );
  return (
    <>
      {!isByHand && canRetryLater(error) && <p>The page also tries again by itself.</p>}
      <button type="button" className="button" onClick={onRetry}>
        Try again
      </button>
    </>
  );
}

/** Codes of limits that administrators set. */
const LIMIT_CODES = ["budget_exceeded", "budget_reserved", "rate_limited"];

const isLimit = (error: unknown): boolean =>
  error instanceof ApiError && error.code !== undefined && LIMIT_CODES.includes(error.code);

/** When a limit resets, and who can raise it. */
function LimitAdvice({ error }: { error: ApiError }) {
  const { status, code, retry_after_ms } = error;
  // the message of a reserved budget names what must end first
  const hasRoomSoon = status === 429 && code !== "budget_reserved" && retry_after_ms !== undefined;
  if (!isLimit(error) && !hasRoomSoon) return null;
  return (
    <p>
      {hasRoomSoon && `Try again in ${formatDuration(retry_after_ms)}. `}
      {isLimit(error) && (
        <>
          Owners and administrators can raise it under <Link to="/spending">Spending</Link>.
        </>
      )}
    </p>
  );
}

interface ErrorProps {
  error: unknown;
  /** What failed, if the message does not say it. */
  what?: string;
  /** The id of the message, for the field that it describes. */
  messageId?: string;
  onRetry?: () => void;
  /** Only `onRetry` tries it again, as with uploads: the page itself repeats nothing but reads of its data. */
  isByHand?: boolean;
}

/** An error: message, code, field and request id. */
export function ErrorNotice({ error, what, messageId, onRetry, isByHand = false }: ErrorProps) {
  const message = error instanceof Error ? error.message : String(error);
  const more = error instanceof ApiError ? details(error) : "";
  return (
    <div className="notice bad" role="alert">
      {what && <p>{what}</p>}
      <p id={messageId}>
        {/* only these messages name a subject by its id, and amounts in the units of the API */}
        {isLimit(error) ? <ServiceMessage text={message} /> : withReadableTimes(message)}
      </p>
      {more && <p className="quiet mono">{more}</p>}
      {error instanceof ApiError && error.code === "legal_hold" && (
        <p>
          <Link to="/privacy" search={{ section: "holds" }}>
            See what is held
          </Link>
        </p>
      )}
      {error instanceof ApiError && <LimitAdvice error={error} />}
      {error instanceof OverwriteRefusal && (
        <p>
          <Link {...error.edit}>See and change it</Link>
        </p>
      )}
      {onRetry && <WhatNext error={error} onRetry={onRetry} isByHand={isByHand} />}
    </div>
  );
}

export const Loading = ({ what }: { what: string }) => (
  <p className="loading" role="status">
    Loading {what}…
  </p>
);

/** An empty list: the reason and the next step. */
export const EmptyState = ({ title, children }: { title: string; children?: ReactNode }) => (
  <div className="empty">
    <h2>{title}</h2>
    {children}
  </div>
);

/** A list that is empty because of its filters; `children` is a link to the unfiltered list. */
export const NoMatch = ({ what, children }: { what: string; children: ReactNode }) => (
  <EmptyState title={`No ${what} matches the filters`}>
    <p>See {children}.</p>
  </EmptyState>
);

/** For a list whose further pages could not be read. */
const isCut = (data: unknown): data is Listing<unknown> =>
  typeof data === "object" && data !== null && "isWhole" in data && data.isWhole === false;

const CutNotice = ({ list: { data, total }, what }: { list: Listing<unknown>; what: string }) => (
  <p className="notice warn" role="status">
    There are more {what} than can be listed: {formatNumber(data.length)} of {formatNumber(total)} are here.
  </p>
);

/** The result of a query, a loading notice, or the error. */
export function QueryResult<T>({
  query,
  what,
  title,
  children,
}: {
  query: Pick<UseQueryResult<T>, "data" | "isError" | "error"> & { refetch(): Promise<unknown> };
  what: string;
  /** The heading of a screen whose own heading is part of the query's result. */
  title?: string;
  children: (data: T) => ReactNode;
}) {
  if (query.data !== undefined)
    return (
      <>
        {query.isError && <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />}
        {isCut(query.data) && <CutNotice list={query.data} what={what} />}
        {children(query.data)}
      </>
    );
  return (
    <>
      {title && <h1>{title}</h1>}
      {query.isError ? (
        <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />
      ) : (
        <Loading what={what} />
      )}
    </>
  );
}
