import { Link } from "@tanstack/react-router";
import { useRole } from "../api/useRole.ts";

/** To the export and the erasure of what somebody has, for administrators. `subject`: `person:<id>` or `key:<id>`. */
export function PrivacyLinks({ subject }: { subject: string }) {
  const { isAdmin } = useRole();
  if (!isAdmin) return null;
  return (
    <>
      {" · "}
      <Link to="/privacy" search={{ section: "exports", subject }}>
        an export
      </Link>
      {" · "}
      <Link to="/privacy" search={{ section: "erasures", subject }}>
        an erasure
      </Link>
    </>
  );
}
