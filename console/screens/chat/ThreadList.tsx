import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { listThreads, TURNS_PER_PAGE, type Thread } from "../../api/chat.ts";
import { Loaded } from "../../parts/Notices.tsx";
import { Time } from "../../parts/Time.tsx";

/** Questions, of as many conversations or fewer. */
const MAX_READ = 500;

const Item = ({ thread: { id, title, status, updated_at } }: { thread: Thread }) => (
  <li>
    <Link to="/chat/$threadId" params={{ threadId: id }} activeProps={{ className: "active" }} data-row>
      <span className="clipped">{title || "Without words"}</span>
      <span className="quiet">
        <Time at={updated_at} />
        {status === "running" && " · answering"}
        {status === "failed" && " · failed"}
      </span>
    </Link>
  </li>
);

/** The person's own conversations, the newest first. */
export function ThreadList() {
  const [limit, setLimit] = useState(TURNS_PER_PAGE);
  const threads = useQuery(listThreads(limit));
  return (
    <nav className="threads" aria-label="Conversations">
      <Link to="/chat" className="button">
        New conversation
      </Link>
      <Loaded query={threads} what="conversations">
        {({ data, has_more }) =>
          data.length === 0 ? (
            <p className="quiet">Your conversations appear here.</p>
          ) : (
            <>
              <ul className="plain">
                {data.map((thread) => (
                  <Item key={thread.id} thread={thread} />
                ))}
              </ul>
              {has_more && limit < MAX_READ && (
                <button type="button" className="button small" onClick={() => setLimit(MAX_READ)}>
                  Show more
                </button>
              )}
            </>
          )
        }
      </Loaded>
    </nav>
  );
}
