import { useAnnouncement } from "./announce";

/** Always present: assistive technology announces changes of a region that it knows. */
export function Announcer() {
  const announcement = useAnnouncement();
  return (
    <div role="status" aria-label="Announcements" className="sr-only">
      {announcement && <p key={announcement.id}>{announcement.text}</p>}
    </div>
  );
}
