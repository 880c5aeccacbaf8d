import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { listThreads, type Thread } from "../../api/chat.ts";
import { QueryResult } from "../../parts/Notices.tsx";
import { Time } from "../../parts/Time.tsx";
import { FocusableButton } from "../../parts/FocusableButton.tsx";

const Item = ({ thread: { id, title, status, updated_at } }: { thread: Thread }) => (
  <li>
    <Link to="/chat/$threadId" params={{ threadId: id }} activeProps={{ className: "active" }} data-row>
      <span className="clipped">{title || "Untitled"}</span>
      <span className="quiet">
        <Time at={updated_at} />
        {status === "running" && " · answering"}
        {status === "failed" && " · failed"}
      </span>
    </Link>
  </li>
);

/** The loaded conversations of the person, most recently answered first. */
export function ThreadList() {
  const threads = useInfiniteQuery(listThreads);
  return (
    <nav className="threads" aria-label="Conversations">
      <Link to="/chat" className="button">
        New conversation
      </Link>
      <QueryResult query={threads} what="conversations">
        {({ pages }) => {
          const all = pages.flatMap(({ data }) => data);
          if (all.length === 0) return <p className="quiet">Your conversations appear here.</p>;
          return (
            <>
              <ul className="plain">
                {all
                  .toSorted((a, b) => b.updated_at.localeCompare(a.updated_at))
                  .map((thread) => (
                    <Item key={thread.id} thread={thread} />
                  ))}
              </ul>
              {threads.hasNextPage && (
                <FocusableButton
                  type="button"
                  className="button small"
                  isOff={threads.isFetchingNextPage}
                  onClick={() => void threads.fetchNextPage()}
                >
                  Show more
                </FocusableButton>
              )}
            </>
          );
        }}
      </QueryResult>
    </nav>
  );
}
