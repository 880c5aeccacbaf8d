import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { call } from "../api/call.ts";
import { listApprovals, whoAmI } from "../api/queries.ts";
import { useTheme } from "./theme.ts";

/** The number of approvals that wait for the person. */
function Waiting() {
  const { data } = useQuery(listApprovals("pending", 50));
  if (!data?.total) return null;
  return (
    <span className="badge">
      {data.total}
      <span className="hidden-text"> waiting</span>
    </span>
  );
}

function Account() {
  const queries = useQueryClient();
  const { data } = useQuery(whoAmI);
  const [theme, nextTheme] = useTheme();
  const signOut = async () => {
    await call("auth/logout", { method: "POST" }).catch(() => {});
    queries.clear();
    location.reload();
  };
  return (
    <div className="account">
      <p className="quiet" title={data?.user.email}>
        {data?.user.name || data?.user.email} · {data?.user.role}
      </p>
      <button type="button" className="button small" onClick={nextTheme}>
        Theme: {theme}
      </button>
      <button type="button" className="button small" onClick={() => void signOut()}>
        Sign out
      </button>
    </div>
  );
}

export function Navigation() {
  const { data } = useQuery(whoAmI);
  return (
    <header className="navigation">
      <p className="brand">{data?.organization.name || "Console"}</p>
      <nav aria-label="Main">
        <ul className="plain">
          <li>
            <Link to="/" activeOptions={{ exact: true }} activeProps={{ className: "active" }}>
              Home
            </Link>
          </li>
          <li>
            <Link to="/chat" activeProps={{ className: "active" }}>
              Chat
            </Link>
          </li>
          <li>
            <Link to="/inbox" activeProps={{ className: "active" }}>
              Inbox <Waiting />
            </Link>
          </li>
          <li>
            <Link to="/requests" activeProps={{ className: "active" }}>
              Requests
            </Link>
          </li>
          <li>
            <Link to="/runs" activeProps={{ className: "active" }}>
              Runs
            </Link>
          </li>
          <li>
            <Link to="/knowledge" activeProps={{ className: "active" }}>
              Knowledge
            </Link>
          </li>
          {["owner", "admin"].includes(data?.user.role ?? "") && (
            <li>
              <Link to="/log" activeProps={{ className: "active" }}>
                Log
              </Link>
            </li>
          )}
        </ul>
      </nav>
      <Account />
    </header>
  );
}
