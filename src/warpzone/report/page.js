for (const chart of document.querySelectorAll(".chart")) {
  const svg = chart.querySelector("svg"), cursor = chart.querySelector(".cursor");
  const { axis, lines } = JSON.parse(chart.querySelector("script").textContent);
  const [x0, x1, left, right, width] = axis;
  const values = chart.querySelectorAll("[data-line]");
  const nearest = (line, x) => line.reduce((a, b) => Math.abs(b[0] - x) < Math.abs(a[0] - x) ? b : a);
  svg.addEventListener("pointermove", (event) => {
    const box = svg.getBoundingClientRect();
    const at = (event.clientX - box.left) * width / box.width;
    const x = x0 + (Math.min(Math.max(at, left), right) - left) / (right - left) * (x1 - x0);
    const position = left + (nearest(lines[0], x)[0] - x0) / (x1 - x0) * (right - left);
    cursor.setAttribute("x1", position);
    cursor.setAttribute("x2", position);
    cursor.setAttribute("visibility", "visible");
    values.forEach((value, index) => { value.textContent = nearest(lines[index], x)[1]; });
  });
  svg.addEventListener("pointerleave", () => {
    cursor.setAttribute("visibility", "hidden");
    values.forEach((value) => { value.textContent = value.dataset.last; });
  });
}
