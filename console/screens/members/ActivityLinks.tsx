import { Link } from "@tanstack/react-router";
import { useRole } from "../../api/useRole.ts";
import { PrivacyLinks } from "../../parts/PrivacyLinks.tsx";

/** Links to a member's activity, also after the removal: for builders, with more links for administrators. */
export function ActivityLinks({ id }: { id: string }) {
  const { isAdmin, isBuilder } = useRole();
  if (!isBuilder) return null;
  return (
    <>
      <dt>See</dt>
      <dd>
        <Link to="/requests" search={{ who: `person:${id}` }}>
          their requests
        </Link>
        {" · "}
        <Link to="/inbox" search={{ by: `person:${id}` }}>
          what they decided
        </Link>
        {isAdmin && (
          <>
            {" · "}
            <Link to="/log" search={{ who: `person:${id}` }}>
              what they did
            </Link>
          </>
        )}
        <PrivacyLinks subject={`person:${id}`} />
      </dd>
    </>
  );
}
