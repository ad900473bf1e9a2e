// A link to the page that is open would only take its state out of the address.
document.addEventListener("click", (event) => {
  const link = event.target.closest && event.target.closest("nav a");
  if (link && link.pathname === window.location.pathname) {
    event.preventDefault();
    event.stopPropagation();
  }
}, true);
