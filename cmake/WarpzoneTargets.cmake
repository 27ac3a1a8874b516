# Shared build rules: one place for compiler flags, one function per kind of target.

include(CheckIPOSupported)
find_package(Threads REQUIRED)

# Flags for our own code only; nanobind's sources do not promise to be free of our warnings.
add_library(warpzone_flags INTERFACE)
target_include_directories(warpzone_flags INTERFACE ${PROJECT_SOURCE_DIR}/native)
if(MSVC)
  target_compile_options(warpzone_flags INTERFACE /W4 /permissive-)
else()
  target_compile_options(warpzone_flags INTERFACE -Wall -Wextra -Werror $<$<CONFIG:Release>:-O3>)
endif()

if(WARPZONE_SANITIZE AND WARPZONE_SANITIZE_THREADS)
  message(FATAL_ERROR "ThreadSanitizer excludes AddressSanitizer: choose one")
endif()
if(WARPZONE_SANITIZE OR WARPZONE_SANITIZE_THREADS)
  if(MSVC)
    message(FATAL_ERROR "WARPZONE_SANITIZE and WARPZONE_SANITIZE_THREADS need GCC or Clang")
  endif()
  set(sanitizers address,undefined)
  if(WARPZONE_SANITIZE_THREADS)
    set(sanitizers thread)
  endif()
  # Global, because the module, nanobind and the tests must all agree on the run-time.
  add_compile_options(-fsanitize=${sanitizers} -fno-sanitize-recover=all -fno-omit-frame-pointer -g)
  add_link_options(-fsanitize=${sanitizers})
endif()

# Link-time optimisation is for the module that ships. Sanitizer reports get blurred by it, and the
# native tests, one program each, would repeat its slow link step.
set(WARPZONE_IPO OFF)
if(WARPZONE_BINDINGS AND NOT WARPZONE_NATIVE_TESTS AND NOT WARPZONE_SANITIZE
   AND NOT WARPZONE_SANITIZE_THREADS
   AND CMAKE_BUILD_TYPE STREQUAL "Release")
  check_ipo_supported(RESULT WARPZONE_IPO OUTPUT warpzone_ipo_output LANGUAGES CXX)
  if(NOT WARPZONE_IPO)
    message(STATUS "Link-time optimisation is not available: ${warpzone_ipo_output}")
  endif()
endif()

function(warpzone_optimize target)
  set_target_properties(${target} PROPERTIES INTERPROCEDURAL_OPTIMIZATION ${WARPZONE_IPO})
  # GCC's link step compiles; without this it runs on one core and says so in a warning.
  if(WARPZONE_IPO AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_link_options(${target} PRIVATE -flto=auto)
  endif()
endfunction()

# warpzone_add_library(name [dependency...]): a static library of all *.cpp in the current folder.
function(warpzone_add_library name)
  file(GLOB sources CONFIGURE_DEPENDS *.cpp)
  if(sources)
    add_library(${name} STATIC ${sources})
    target_link_libraries(${name} PUBLIC ${ARGN} Threads::Threads PRIVATE warpzone_flags)
    target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR}/native)
    warpzone_optimize(${name})
  else()
    # Header-only so far: dependants still get the include path and the dependencies.
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE ${ARGN} Threads::Threads)
    target_include_directories(${name} INTERFACE ${PROJECT_SOURCE_DIR}/native)
  endif()
endfunction()
