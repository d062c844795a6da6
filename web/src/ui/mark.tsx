/** Logo: an open ring with a bar through its gap. */
export function Mark({ className }: { className?: string }) {
  return (
    <svg aria-hidden viewBox="0 0 32 32" fill="none" className={className}>
      <path
        d="M22.2 6.6A11.2 11.2 0 1 0 27.2 16"
        stroke="currentColor"
        strokeWidth="3.4"
        strokeLinecap="round"
      />
      <path d="M16 16h11.2" stroke="currentColor" strokeWidth="3.4" strokeLinecap="round" />
      <circle cx="16" cy="16" r="2.9" fill="currentColor" />
    </svg>
  );
}
